// Asks for the best turn of a saved position:  node best_turn.mjs ../../mexica_midgame.json --time 2
import { connect, describe, positive, readArguments, readPosition, report, writePosition } from "./engine.mjs";

const USAGE =
  "best_turn.mjs FILE [--time S] [--candidates N] [--next FILE] [--host HOST:PORT] [--token TOKEN] [--ca ROOTS.pem]";
// What the call may take beyond its search: waiting for a free slot, and the way there and back.
const PATIENCE_S = 10;

const options = readArguments(USAGE, {
  time: { type: "string", default: "1" },
  candidates: { type: "string", default: "5" },
  next: { type: "string" },
});
const time_s = positive("time", options.time);
const request = {
  position: readPosition(options.file),
  limits: { time_s },
  num_candidates: positive("candidates", options.candidates, { whole: true }),
};
const { client, metadata } = connect(options);
// Whatever is left of the deadline when the search begins caps it: an answer comes in time or not at all.
const deadline = new Date(Date.now() + 1000 * (time_s + PATIENCE_S));

client.BestTurn(request, metadata, { deadline }, (error, response) => {
  if (error) {
    report(error);
    client.close();
    return;
  }
  const { result } = response;
  console.log(describe(result));
  console.log(`${result.iterations} iterations in ${result.seconds.toFixed(2)} s, ${result.stop_reason}`);
  for (const candidate of result.candidates) {
    console.log(`${candidate.visits.padStart(8)} visits  ${describe(candidate)}`);
  }
  if (options.next === undefined) {
    client.close();
  } else {
    play(result.turn);
  }
});

/** Play the turn, and the random events after it, and write the next position to a file. */
function play(actions) {
  const move = { position: request.position, turn: { actions }, draw_events: true };
  client.ApplyTurn(move, metadata, { deadline }, (error, response) => {
    if (error) {
      report(error);
    } else {
      writePosition(options.next, response.position);
    }
    client.close();
  });
}
