"""Each error of the corpus as litellm gets it from a client, mapped by litellm to one of its exceptions.

Prints the median over rounds, in microseconds a verdict.
"""

import contextlib
import io
import json
import os
import sys
import time

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import httpx
import litellm

litellm.suppress_debug_info = True


def error(row):
    found = Exception(row.get("message") or "")
    found.message = row.get("message") or ""
    found.status_code = row.get("status") or 500
    request = httpx.Request("POST", "https://example.com")
    found.response = httpx.Response(found.status_code, request=request)
    return found


def judge(row, original):
    try:
        litellm.exception_type(
            model="model", original_exception=original, custom_llm_provider=row.get("provider") or "openai"
        )
    except Exception as mapped:
        return type(mapped).__name__
    return "Exception"


rows = [json.loads(line) for line in sys.stdin if line.strip()]
errors = [(row, error(row)) for row in rows]
rounds = []
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    for _ in range(5):
        start = time.perf_counter()
        classes = [judge(row, original) for row, original in errors]
        rounds.append((time.perf_counter() - start) * 1e6 / len(rows))
classed = sum(name not in ("Exception", "APIConnectionError", "APIError") for name in classes)
print(f"{sorted(rounds)[2]:.2f} {classed} {len(rows)}")
