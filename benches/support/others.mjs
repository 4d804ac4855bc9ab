// Each error of the corpus as the AWS SDK's retry strategy would see it, judged by the four questions
// that the strategy asks. Prints the median over rounds, in microseconds a verdict.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const library = createRequire(`${process.argv[2]}/`)("@smithy/service-error-classification");
const rows = readFileSync(0, "utf8").trim().split("\n").map((line) => JSON.parse(line));
const errors = rows.map((row) =>
  Object.assign(new Error(row.message ?? ""), {
    name: row.errorType ?? row.code ?? "Error",
    code: row.code,
    $metadata: { httpStatusCode: row.status },
  }),
);

function judge(error) {
  if (library.isClockSkewError(error)) return "clock skew";
  if (library.isThrottlingError(error)) return "throttling";
  if (library.isTransientError(error)) return "transient";
  return library.isServerError(error) ? "server" : "none";
}

const rounds = [];
let classed = 0;
for (let round = 0; round < 200; round++) {
  const start = process.hrtime.bigint();
  classed = errors.filter((error) => judge(error) !== "none").length;
  rounds.push(Number(process.hrtime.bigint() - start) / 1e3 / errors.length);
}
rounds.sort((a, b) => a - b);
console.log(`${rounds[100].toFixed(2)} ${classed} ${errors.length}`);
