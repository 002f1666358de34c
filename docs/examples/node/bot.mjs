// A bot for Goofspiel, as a program of its own: regelwerk run goofspiel --bots "cmd:node docs/examples/node/bot.mjs,sensible"
// It bids a little more than the prize is worth. In other games it takes the first option.
import { createInterface } from "node:readline";

/** The number of the option to choose. */
function choose({ decision, options, view }) {
  if (decision !== "bid") return 0;
  const worth = view.stake.reduce((sum, prize) => sum + Number(prize), 0);
  const over = options.map(({ value }, number) => ({ value, number })).filter(({ value }) => value > worth);
  const near = over.sort((a, b) => a.value - b.value)[0];
  if (near) return near.number;
  const cheapest = Math.min(...options.map(({ value }) => value)); // nothing beats it: keep what is dear
  return options.findIndex(({ value }) => value === cheapest);
}

const answers = {
  hello: ({ protocol }) => ({ name: "a little more", wants: ["view"], protocol }),
  begin: () => ({}),
  choose: (params) => ({ option: choose(params) }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const answer = answers[method];
  const told = answer
    ? { result: answer(params) }
    : { error: { code: -32601, message: `unknown method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...told })}\n`);
}
