"""The engines: from events and a plan to collapsed matches.

They run inside Spark workers: from outside they import NumPy, Numba, Polars and PyArrow, and nothing else.
The Spark runner alone imports PySpark, when it runs.
"""

from cepctl.engines.kernels.files import amend_numba
from cepctl.engines.kernels.folders import refuse_configuration

refuse_configuration()
amend_numba()
