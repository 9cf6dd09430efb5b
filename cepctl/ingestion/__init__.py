"""From logs to an event dataset: the jobs behind `cepctl ingest` and `cepctl assign`.

    spooled          standard input and pipes -> files                  spooling.py
    list_inputs      PATHs -> files                                     io/source/
    read_files       large files -> parts, and what came of them        parts.py
    read_file        one file -> sorted Parquet chunks + FileResult     reading.py, chunks.py, results.py
    progress_of      tasks that end -> lines for a terminal             progress.py
    unify            kinds of every attribute -> one schema             schemas.py
    order            keys of all chunks -> row ranges of every part     ordering.py, leaving_out.py
    write_part       row ranges -> one Parquet part                     writing.py
    in_own_process   what holds much, where memory is little            room.py
    summarised       what came of every file -> the account of it all   summary.py, rejects.py
    publish          the finished dataset -> its place, at once         publishing.py, atomic/
    ingest           all of it, on either runner                        jobs.py

Tasks are pure functions of picklable values, so both runners do the same and write the same bytes.
"""
