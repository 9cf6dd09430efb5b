"""The engines: from events and a plan to collapsed matches."""

from cepctl.engines.kernels.files import amend_numba
from cepctl.engines.kernels.folders import refuse_configuration

refuse_configuration()
amend_numba()
