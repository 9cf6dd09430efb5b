"""The engines: from events and a plan to collapsed matches.

They run inside Spark workers: from outside they import NumPy, Numba, Polars and PyArrow, and nothing else.
None of them knows Spark: runners (`cepctl/runners/`) run what they hand out.
"""

from cepctl.engines.kernels.files import amend_numba
from cepctl.engines.kernels.folders import refuse_configuration

refuse_configuration()
amend_numba()
