// Plays a whole game through the line protocol: node engine.mjs RULESET [PLAYERS] [SEED]
// Each seat takes what `hint` says every second time, else its last option.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [ruleset = "goofspiel", players = "2", seed = "1"] = process.argv.slice(2);
const command = (process.env.REGELWERK ?? "regelwerk").split(" ");
const engine = spawn(command[0], [...command.slice(1), "engine", ruleset], { stdio: ["pipe", "pipe", "inherit"] });
const lines = createInterface({ input: engine.stdout })[Symbol.asyncIterator]();
let requests = 0;

/** The result of a method; an error is thrown. */
async function ask(method, params = {}) {
  engine.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: ++requests, method, params })}\n`);
  const { result, error } = JSON.parse((await lines.next()).value);
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

const { title } = await ask("version");
let state = await ask("new", { players: Number(players), seed: Number(seed) });
const { game } = state;
while (!state.over) {
  const { options } = await ask("options", { game });
  const choice = requests % 2 ? options.at(-1) : (await ask("hint", { game })).choice;
  state = await ask("apply", { game, choice });
}
const { lines: log } = await ask("log", { game, player: 0 });
console.log(title);
for (const { text } of log.slice(-3)) if (text) console.log(text);
console.log(`places: ${state.result.places.join(", ")} after ${state.choices} choices`);
await ask("quit");
