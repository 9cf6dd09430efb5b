"""The engines: from events and a plan to collapsed matches."""

from cepctl.engines.kernel_cache import settle_kernel_cache
from cepctl.engines.kernel_files import amend_numba

settle_kernel_cache()
amend_numba()
