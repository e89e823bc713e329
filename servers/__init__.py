"""MCP servers that run alone, over stdio or streamable HTTP.

    notes.py        notes in one JSON file            python -m servers.notes --help
    knowledge.py    a folder of documents, and code   python -m servers.knowledge --help
    database.py     a SQLite file, read-only          python -m servers.database --help

Each is a `build_server(...)` that a test can hold in memory, and a `main()` that parses
arguments and runs it. Names with an underscore are the parts that servers share.

Read next: notes.py, and below it _note_store.py and _json_file.py.
"""
