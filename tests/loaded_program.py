"""What small commands spend most of their time on: the imports, once, before commands are forked."""

from __future__ import annotations


def load_program() -> None:
    """Only imports: no library may have begun threads that a fork would lose."""
    import cepctl.cli.commands.assign
    import cepctl.cli.commands.ingest
    import cepctl.cli.commands.match
    import cepctl.cli.match.incremental_run
    import cepctl.cli.match.whole_run
    import cepctl.engines.runners.stored
    import cepctl.ingestion.assigning
    import cepctl.ingestion.jobs
    import cepctl.render.ingest
    import cepctl.state.intake
    import cepctl.state.store  # noqa: F401
    from cepctl.io.formats import known_formats

    list(known_formats())
