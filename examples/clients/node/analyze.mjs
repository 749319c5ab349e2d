// Watches a search grow, and cancels it after some seconds:
//   node analyze.mjs ../../mexica_midgame.json --seconds 5
import { connect, describe, grpc, positive, readArguments, readPosition, report } from "./engine.mjs";

const USAGE =
  "analyze.mjs FILE [--seconds S] [--interval S] [--host HOST:PORT] [--token TOKEN] [--ca ROOTS.pem]";

const options = readArguments(USAGE, {
  seconds: { type: "string", default: "5" },
  interval: { type: "string", default: "0.5" },
});
const seconds = positive("seconds", options.seconds);
const request = {
  position: readPosition(options.file),
  interval_s: positive("interval", options.interval),
  unlimited: true, // until it is cancelled
  num_candidates: 1,
};
const { client, metadata } = connect(options);
const call = client.Analyze(request, metadata);

// Cancelling stops the search on the server at once. Ctrl-C does the same.
const timer = setTimeout(() => call.cancel(), 1000 * seconds);
process.once("SIGINT", () => call.cancel());

call.on("data", ({ result, is_final }) => {
  const figures = `${result.seconds.toFixed(1).padStart(6)} s ${result.iterations.padStart(9)}`;
  console.log(`${figures}  ${describe(result)}${is_final ? `, ended: ${result.stop_reason}` : ""}`);
});
call.on("error", (error) => {
  if (error.code === grpc.status.CANCELLED) {
    console.log("cancelled");
  } else {
    report(error);
  }
});
// Follows the end of the stream and every error.
call.on("status", () => {
  clearTimeout(timer);
  client.close();
});
