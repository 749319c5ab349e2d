// Asks for the best turn of a saved position:  node out/best_turn.js ../../mexica_midgame.json
import { readFileSync } from "node:fs";
import { credentials } from "@grpc/grpc-js";
import { type BestTurnResponse, BestTurnRequest, EngineServiceClient } from "./gen/mexica_ai/v1/engine.js";

const [file, host = "127.0.0.1:50051"] = process.argv.slice(2);
if (file === undefined) {
  console.error("usage: best_turn.js FILE [HOST:PORT]");
  process.exit(2);
}
// `game` becomes the name of the field that holds the rest.
const { game, ...position } = JSON.parse(readFileSync(file, "utf8"));
const request = BestTurnRequest.fromJSON({ position: { [game]: position }, limits: { time_s: 1 } });
const client = new EngineServiceClient(host, credentials.createInsecure());
client.bestTurn(request, (error: Error | null, answer?: BestTurnResponse) => {
  console.log(error === null ? answer?.result?.turn.join("; ") : error.message);
  process.exitCode = error === null ? 0 : 1;
  client.close();
});
