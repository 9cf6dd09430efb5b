"""`cepctl match --why-not`: how far partial matches got, said on standard error."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import click

from cepctl.cli.output.notices import in_json, say
from cepctl.errors import QueryTooLargeError, UnsupportedQueryError
from cepctl.io.rows.forms import FORMS
from cepctl.matching.run import types_read

if TYPE_CHECKING:
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan

HINT = "--why-not says how far partial matches got, what stopped them, and what came nearest"


def tell_why_not(plan: Plan, inputs: EventInputs, form: str) -> None:
    """Explain on standard error what became of partial matches; with JSON lines as one JSON object.

    A query that can never match has been told so already.
    """
    from cepctl.engines.diagnosis.why_not import why_not
    from cepctl.render.why_not import print_why_not, why_not_json

    if plan.never is not None:
        return
    try:
        why = why_not(plan, inputs.whole().read(plan.attributes, types_read(plan)))
    except (QueryTooLargeError, UnsupportedQueryError) as problem:
        say("note", f"--why-not cannot tell: {problem}")
        return
    if in_json():
        held = io.StringIO()
        print_why_not(why, held)
        say("why-not", held.getvalue().rstrip(), **json.loads(why_not_json(why)))
    elif FORMS[form].is_json:
        click.echo(why_not_json(why), err=True)
    else:
        print_why_not(why, sys.stderr)
