"""How the statements of a kernel become instructions: as Numba has it, in a fraction of them.

Numba gives each variable that several blocks use a place in memory, counts the references of each array that
a name stands for, and puts tuples together of which it takes parts right away.  An optimiser leaves little of
all this, but first somebody has to write, print and read it.  Here

    a variable with one value    is that value, where nothing has to be counted
    what arguments hold          is not counted: whoever calls a kernel holds it meanwhile
    a variable nobody counts     is neither cleared before it has a value, nor after its last use
    what is moved to a variable  is not counted once more there, and once less where it was
    part of a tuple made here    is what was put into it
    what a block has read        is not read again
    what nobody uses             is left out

Imported with Numba, when the first compiled form is asked for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from importlib import import_module
from itertools import pairwise
from typing import Any

from cepctl.engines.kernels.instructions import natural_if, new_place

# Without types, since Numba gives some to few of its functions.
analysis: Any = import_module("numba.core.analysis")
cgutils: Any = import_module("numba.core.cgutils")
handlers: Any = import_module("numba.core.unsafe.eh")
instructions: Any = import_module("llvmlite.ir.instructions")
ir: Any = import_module("numba.core.ir")
ir_utils: Any = import_module("numba.core.ir_utils")
llvm_builder: Any = import_module("llvmlite.ir.builder")
lowering: Any = import_module("numba.core.lowering")
machinery: Any = import_module("numba.core.compiler_machinery")
typed_passes: Any = import_module("numba.core.typed_passes")
types: Any = import_module("numba.core.types")


class _Builder(llvm_builder.IRBuilder):  # type: ignore[misc]
    """Writes instructions, and none to take out what was put in."""

    tries = False
    """Whether what is written has a `try`."""

    def add(self, lhs: Any, rhs: Any, name: str = "", flags: Any = ()) -> Any:
        """A sum, which is natural if both parts are: nobody counts so far that it wraps."""
        return natural_if(super().add(lhs, rhs, name, flags), lhs, rhs)

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """A part of a value, of which one was put in if it was made here."""
        path = list(idx) if isinstance(idx, (list, tuple)) else [idx]
        while path:
            holder = _maker(agg, path[0])
            if holder is None:
                break
            agg = holder
            del path[0]
        if not path:
            return agg
        known = self.block.__dict__.setdefault("parts", {})
        key = id(agg), *path
        found = known.get(key)
        if found is None:
            found = known[key] = super().extract_value(agg, path, name)
        return found


def _maker(whole: Any, place: int) -> Any:
    """What was put into a place of a value; None where that is not known."""
    while isinstance(whole, instructions.InsertValue):
        if whole.indices[0] == place:
            return whole.value if len(whole.indices) == 1 else None
        whole = whole.aggregate
    return None


class _Lower(lowering.Lower):  # type: ignore[misc]
    """Makes instructions of a kernel."""

    _borrowed: set[str]
    _uncounted: set[str]
    _keeps: set[str]
    _moved: dict[int, str]

    def setup_function(self, fndesc: Any) -> None:
        """Begin."""
        super().setup_function(fndesc)
        self.builder.__class__ = _Builder
        self.builder.tries = self._tries = _has_try(self.blocks)

    def pre_block(self, block: Any) -> None:
        """Begin a block; whether it is within `try` is asked only where there is one."""
        self._held: dict[str, Any] = {}
        if self._tries:
            super().pre_block(block)
        else:
            self._cur_ir_block = block

    def _find_singly_assigned_variable(self) -> None:
        self._kept: dict[str, Any] = {}
        if self.func_ir.func_id.is_generator or self._disable_sroa_like_opt:
            super()._find_singly_assigned_variable()
            self._borrowed, self._uncounted, self._moved, self._keeps = set(), set(), {}, set()
            return
        self._blk_local_varmap: dict[str, Any] = {}
        self._singly_assigned_vars, known = _set_once(self.blocks)
        kinds, models = self.fndesc.typemap, self.context.data_model_manager
        counted = {kind for kind in set(kinds.values()) if models[kind].contains_nrt_meminfo()}
        self._borrowed = _borrowed(self.blocks, kinds)
        uncounted = {name for name, kind in kinds.items() if kind not in counted}
        self._uncounted = self._borrowed | uncounted
        self._moved = _moved(self.blocks, kinds, self._uncounted)
        self._keeps = known & self._uncounted

    def _alloca_var(self, name: str, fetype: Any) -> None:
        if name not in self._uncounted:
            super()._alloca_var(name, fetype)
        elif name not in self._keeps | self._singly_assigned_vars and name not in self.varmap:
            self.varmap[name] = new_place(self.builder, self.context.get_value_type(fetype), name)

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """A place for a variable; nobody is told how large it is."""
        return cgutils.alloca_once(self.builder, lltype, name=name)

    def loadvar(self, name: str) -> Any:
        """The value of a variable."""
        found = self._kept.get(name) or self._held.get(name)
        if found is None:
            found = super().loadvar(name)
            self._hold(name, found)
        return found

    def _hold(self, name: str, value: Any) -> None:
        """The value of a variable that stands in memory, until it has another one or the block ends."""
        if name in self.varmap and not self.func_ir.func_id.is_generator:
            self._held[name] = value

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        """Give a variable a value."""
        if name in self._keeps:
            self._kept[name] = value
        elif name in self._uncounted and name not in self._singly_assigned_vars:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.getvar(name))
            self._hold(name, value)
        else:
            super().storevar(value, name, argidx)
            self._hold(name, value)

    def delvar(self, name: str) -> None:
        """Nobody uses a variable any more."""
        if name not in self._uncounted:
            super().delvar(name)
            self._held.pop(name, None)

    def lower_inst(self, inst: Any) -> None:
        """Make instructions of a statement."""
        if id(inst) not in self._moved or isinstance(inst, ir.Assign):
            super().lower_inst(inst)
        elif inst.value not in self._singly_assigned_vars:
            place = self.getvar(inst.value)
            self.builder.store(place.type.pointee(None), place)
            self._held.pop(inst.value, None)

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        """The value that a statement gives a variable."""
        value = inst.value
        if id(inst) in self._moved:
            return self.loadvar(self._moved[id(inst)])
        if inst.target.name not in self._borrowed:
            return super().lower_assign(ty, inst)
        if isinstance(value, ir.Arg):
            return self.fnargs[value.index]
        if isinstance(value, ir.Var):
            return self.loadvar(value.name)
        place = _place(value, self.typeof(value.value.name))
        return self.builder.extract_value(self.loadvar(value.value.name), place)


def _moved(blocks: dict[int, Any], kinds: Any, uncounted: set[str]) -> dict[int, str]:
    """By their identity statements that give the value of a variable to another one, and then delete it."""
    found: dict[int, str] = {}
    for block in blocks.values():
        for giving, deleting in pairwise(block.body):
            if isinstance(giving, ir.Assign) and isinstance(deleting, ir.Del):
                source = _moves(giving.value)
                is_alike = source == deleting.value and kinds[source] == kinds[giving.target.name]
                if is_alike and not {source, giving.target.name} & uncounted:
                    found[id(giving)] = found[id(deleting)] = deleting.value
    return found


def _moves(value: Any) -> str | None:
    """The variable whose value a statement gives another one as it is."""
    if isinstance(value, ir.Expr) and value.op in ("cast", "exhaust_iter"):
        value = value.value
    return value.name if isinstance(value, ir.Var) else None


def _borrowed(blocks: dict[int, Any], kinds: Any) -> set[str]:
    """The variables that stand for arguments, or for what tuples among them hold, wherever they are set."""
    values = defaultdict[str, list[Any]](list)
    for statement in _assignments(blocks):
        values[statement.target.name].append(statement.value)
    borrowed = {
        name
        for name, given in values.items()
        if all(_may_be_borrowed(each, kinds, kinds[name]) for each in given)
    }
    while True:
        owned = {
            name
            for name in borrowed
            if any(_source(each) not in borrowed for each in values[name] if not isinstance(each, ir.Arg))
        }
        if not owned:
            return borrowed
        borrowed -= owned


def _may_be_borrowed(value: Any, kinds: Any, kind: Any) -> bool:
    """Whether a value is an argument, a variable, or a part of a tuple, and of the type that is asked for."""
    if isinstance(value, ir.Arg):
        return bool(kinds[f"arg.{value.name}"] == kind)
    if isinstance(value, ir.Var):
        return bool(kinds[value.name] == kind)
    if not isinstance(value, ir.Expr) or value.op not in ("getattr", "static_getitem"):
        return False
    whole = kinds[value.value.name]
    place = _place(value, whole)
    return place is not None and whole.types[place] == kind


def _source(value: Any) -> str:
    """The variable that a value is, or is a part of."""
    return str(value.name if isinstance(value, ir.Var) else value.value.name)


def _place(value: Any, whole: Any) -> int | None:
    """Which part of a tuple is asked for; None where it is no such question."""
    if value.op == "getattr":
        is_field = isinstance(whole, types.BaseNamedTuple) and value.attr in whole.fields
        return whole.fields.index(value.attr) if is_field else None
    if not isinstance(whole, types.BaseTuple) or not isinstance(value.index, int):
        return None
    place = value.index + (len(whole) if value.index < 0 else 0)
    return place if 0 <= place < len(whole) else None


def _set_once(blocks: dict[int, Any]) -> tuple[set[str], set[str]]:
    """Variables that are set once: those that no other block uses, and those whose value is known there.

    It is where the block that sets them comes before all others that use them, also in the order of blocks.
    """
    times = Counter(statement.target.name for statement in _assignments(blocks))
    uses = analysis.compute_use_defs(blocks)
    set_in = {name: label for label, names in uses.defmap.items() for name in names if times[name] == 1}
    local = set_in.keys() - analysis.must_use_alloca(blocks)
    elsewhere = {name for names in uses.usemap.values() for name in names} & local
    known, before = set(elsewhere), analysis.compute_cfg_from_blocks(blocks).dominators()
    for label, names in uses.usemap.items():
        known -= {
            name
            for name in known & set(names)
            if set_in[name] >= label or set_in[name] not in before.get(label, ())
        }
    return local - elsewhere, known


def _has_try(blocks: dict[int, Any]) -> bool:
    return any(
        isinstance(each.value, ir.Global) and each.value.value is handlers.exception_check
        for each in _assignments(blocks)
    )


def _assignments(blocks: dict[int, Any]) -> Iterable[Any]:
    for block in blocks.values():
        yield from block.find_insts(ir.Assign)


@machinery.register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(typed_passes.NativeLowering):  # type: ignore[misc]
    """The pass that makes instructions of a kernel."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        """What does it."""
        return _Lower


_PURE = frozenset(
    {
        *("extractvalue", "insertvalue", "load", "getelementptr", "bitcast", "select", "icmp", "fcmp"),
        *("add", "sub", "mul", "and", "or", "xor", "zext", "sext", "trunc", "sitofp"),
    }
)
"""Instructions that do nothing but give a value."""


def leave_out_unused(module: Any) -> None:
    """Leave out the instructions of a module whose values nobody uses."""
    for function in module.functions:
        used = set[int]()
        waiting = [
            each for block in function.blocks for each in block.instructions if each.opname not in _PURE
        ]
        while waiting:
            for operand in _operands(waiting.pop()):
                if getattr(operand, "opname", None) in _PURE and id(operand) not in used:
                    used.add(id(operand))
                    waiting.append(operand)
        for block in function.blocks:
            block.instructions = [
                each for each in block.instructions if each.opname not in _PURE or id(each) in used
            ]


def _operands(instruction: Any) -> Iterable[Any]:
    if isinstance(instruction, instructions.PhiInstr):
        return [value for value, _ in instruction.incomings]
    found: Iterable[Any] = instruction.operands
    return found
