"""The engines: from events and a plan to collapsed matches."""

from cepctl.engines.kernel_cache import settle_kernel_cache

settle_kernel_cache()
