"""An Airflow DAG that runs a query over logs that grow; copy it to the folder of your DAGs and name your own.

docs/cron.md explains the parts.  A retry is safe: a run that was cut short has written nothing, or all.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

with DAG(
    "slow_tasks",
    schedule=timedelta(minutes=5),
    start_date=datetime(2026, 1, 1),
    catchup=False,  # a run takes all that is new, so there is nothing to catch up with
    max_active_runs=1,
    default_args={"retries": 3, "retry_delay": timedelta(minutes=1)},
):
    BashOperator(
        task_id="match",
        bash_command=(
            "cepctl match --state /var/lib/cepctl/slow-tasks/state -o /var/lib/cepctl/slow-tasks/matches "
            "--slack 1h @/etc/cepctl/slow-tasks.cep /var/log/hadoop"
        ),
        env={"CEPCTL_RUNNER": "local", "CEPCTL_LOG_FORMAT": "json"},
        append_env=True,
        skip_on_exit_code=5,  # another run holds the state: it will take what is new
    )
