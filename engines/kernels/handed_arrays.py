"""How a kernel hands an array to another: what tells it, and not what follows from that.

Numba hands over seven values for an array of one axis, and nine for one of two.  Of one whose rows lie one
after the other, most of these follow from its type and from how long its axes are:

    handed over      memory that is counted, where its numbers are, how many there are along each axis
    what follows     how many there are, how wide each is, how far apart they are
    not asked for    the object of Python that it came from: what is given back there is a new one

Imported with Numba, when the first compiled form is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Without types, since Numba gives some to few of its functions.
datamodel: Any = import_module("numba.core.datamodel")
models: Any = import_module("numba.core.datamodel.models")
supported: Any = import_module("numba.np.numpy_support")
types: Any = import_module("numba.core.types")

_HANDED = ("meminfo", "data", "shape")


class _Array(models.ArrayModel):  # type: ignore[misc]
    """How an array stands for kernels."""

    @property
    def _follows(self) -> bool:
        """Whether all but `_HANDED` follows from it."""
        kind = self.fe_type
        return bool(kind.layout == "C" and kind.ndim) and isinstance(kind.dtype, types.Number | types.Boolean)

    def _handed(self) -> list[tuple[int, Any]]:
        return [(place, self._models[place]) for place in map(self.get_field_position, _HANDED)]

    def get_argument_type(self) -> tuple[Any, ...]:
        """The types of what is handed over."""
        if not self._follows:
            return tuple(super().get_argument_type())
        return tuple(model.get_argument_type() for _, model in self._handed())

    def as_argument(self, builder: Any, value: Any) -> tuple[Any, ...]:
        """What is handed over."""
        if not self._follows:
            return tuple(super().as_argument(builder, value))
        return tuple(model.as_argument(builder, self.get(builder, value, at)) for at, model in self._handed())

    def from_argument(self, builder: Any, value: Any) -> Any:
        """An array of what was handed over."""
        if not self._follows:
            return super().from_argument(builder, value)
        given = zip(_HANDED, self._handed(), value, strict=True)
        parts = {name: model.from_argument(builder, part) for name, (_, model), part in given}
        number = self._models[self.get_field_position("nitems")].get_value_type()
        width = number(supported.as_dtype(self.fe_type.dtype).itemsize)
        sizes = [builder.extract_value(parts["shape"], axis) for axis in range(self.fe_type.ndim)]
        count, step, steps = sizes[0], width, [width]
        for size in sizes[1:]:
            count = builder.mul(count, size, flags=["nsw"])
        for size in sizes[:0:-1]:
            step = builder.mul(step, size, flags=["nsw"])
            steps.insert(0, step)
        parent = self._models[self.get_field_position("parent")].get_value_type()
        strides = self._models[self.get_field_position("strides")].get_value_type()(models.ir.Undefined)
        for axis, each in enumerate(steps):
            strides = builder.insert_value(strides, each, axis)
        parts |= {"nitems": count, "itemsize": width, "strides": strides, "parent": parent(None)}
        array = models.ir.Constant(self.get_value_type(), models.ir.Undefined)
        for name in self._fields:
            array = self.set(builder, array, parts[name], name)
        return array


MODELS = datamodel.DataModelManager().chain(datamodel.default_manager)
"""How values of all types stand for kernels."""
MODELS.register(types.Array, _Array)
