"""``regelwerk tune``: optimise the weights of a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

import click

from interpreter.base.extras import Unavailable
from interpreter.base.suggest import did_you_mean, did_you_mean_one_of
from interpreter.cli import options
from interpreter.cli.failures import refused, refused_for, wrong_value
from interpreter.cli.output import as_json, notice, picked, say, styled
from interpreter.cli.progress import counting, interruptible

if TYPE_CHECKING:
    from interpreter.language.preferences import Policy
    from interpreter.simulate.tuning import Generation, Judgement, TunedWeights

__all__ = ["command"]


@click.command("tune")
@click.argument("policy", metavar="POLICY")
@click.option("--for", "ruleset", metavar="RULESET", required=True, help="Ruleset that it is for.")
@options.new_game_options
@click.option(
    "--against", metavar="BOTS", help="Bots on the other seats, separated by commas.  [default: POLICY unchanged]"
)
@click.option("--only", metavar="WEIGHTS", help="Weights to change, separated by commas.  [default: all]")
@options.games_option(50, "50 for each proposal on every seat", most=100_000)
@options.number_option("--generations", about="Generations of the search.", least=1, most=10_000, default=20, show=True)
@options.number_option(
    "--population", about="Proposals in each generation.", least=4, most=1_000, default=10, show=True
)
@options.number_option(
    "--check", about="Seeds that validate the result.", least=2, most=1_000_000, default=500, show=True
)
@click.option("--write", is_flag=True, help="Write the weights to the file if they are better.")
@options.jobs_option
@options.requested("text", "json")
def command(
    request: options.Request,
    policy: str,
    against: str | None,
    only: str | None,
    games: int,
    generations: int,
    population: int,
    check: int,
    write: bool,
) -> None:
    """Optimise the weights of POLICY by playing games: CMA-ES proposes weights, and each proposal plays the same seeds
    on every seat, against BOTS on the others. The result is validated against the old weights with new seeds.

    The output is a diff for the file of the policy. The exit status is 1 if the result is not significantly better.
    CMA-ES comes with the extra `tune`.

    \b
    Examples:
      regelwerk tune sensible --for goofspiel --players 3 --seed 1
      regelwerk tune sensible --for germany-2018 --only headroom,ahead,reserve --against greedy
      regelwerk tune sensible --for outpost --generations 40 --check 2000 --write
    """
    from interpreter.bots.registry import bots_of, policies_for
    from interpreter.simulate.tuning import APART, Question, diff_of, judged, tuned, win_shares
    from interpreter.simulate.workers import processes

    setup = request.setup()
    loaded, start, others = setup.ruleset, setup.seed, against or policy
    chosen = _policy(policy, policies_for(loaded))
    weights = _weights(chosen, only)
    with wrong_value("--against"):
        bots_of(others, loaded, setup.players)
    settings = tuple(setup.settings.items())
    question = Question(request.place, setup.overlays, setup.players, policy, others, settings)
    workers = request.processes(population)
    plan = {"seed": start, "games": games, "generations": generations, "population": population}
    hands = processes(workers + 1) if workers > 1 else nullcontext()
    with interruptible() as stopped, counting("proposals", generations * population + 2) as tell, hands as crew:
        each = map if crew is None else crew.executor.map

        def at_once(proposals: Sequence[tuple[Mapping[str, int], Sequence[int]]]) -> list[list[float]]:
            results = list(each(partial(win_shares, question), *zip(*proposals, strict=True)))
            tell(len(results))
            return results

        with refused_for(Unavailable):
            outcome = tuned(weights, at_once, **plan, report=_tell, stopped=stopped)
            judgement = judged(question, outcome, range(start + APART, start + APART + check), at_once)
    path = loaded.shelf.find("policies", chosen.file)
    assert path is not None
    after, diff = diff_of(path, outcome)
    about = {"ruleset": loaded.id, "policy": policy, "against": others, "players": setup.players, "seed": start}
    if request.output == "json":
        won = picked(judgement, "before", "after", "difference")
        found = {"games": judgement.games, "weights": outcome, "won": won, "better": judgement.is_better, "diff": diff}
        as_json({**about, **found})
    else:
        title = "{policy} in {ruleset}, one of {players} players against {against}, seed {seed}"
        say(styled(title.format(**about), bold=True))
        _text(outcome, judgement, diff)
    if not judgement.is_better:
        refused("the new weights are not significantly better")
    if write:
        path.write_text(after, encoding="utf-8")
        notice(f"wrote {path}")


def _policy(name: str, policies: dict[str, Policy]) -> Policy:
    policy = policies.get(name)
    if policy is None:
        hint = did_you_mean(name, policies) or f"; there are {', '.join(policies)}"
        raise click.BadParameter(f"unknown policy `{name}`{hint}", param_hint="POLICY")
    if not policy.weights:
        refused(f"`{name}` has no weights")
    return policy


def _weights(policy: Policy, only: str | None) -> dict[str, int]:
    weights = dict(policy.weights)
    if only is None:
        return weights
    chosen = [name.strip() for name in only.split(",")]
    for name in chosen:
        if name not in weights:
            near = did_you_mean_one_of(name, weights)
            raise click.BadParameter(f"`{policy.name}` has no weight `{name}`{near}", param_hint="--only")
    return {name: weights[name] for name in chosen}


def _tell(generation: Generation) -> None:
    best, mean = f"{generation.best * 100:.1f} %", f"{generation.mean * 100:.1f} %"
    notice(f"generation {generation.number}: the best proposal won {best}, the mean {mean}")


def _text(result: TunedWeights, judged: Judgement, diff: str) -> None:
    for name, before in result.before.items():
        if result.after[name] != before:
            say(f"  {name}: {before} → {result.after[name]}")
    say(f"won before:  {judged.before} of {judged.games:,} games")
    say(f"won after:   {judged.after}")
    say(f"difference:  {judged.difference}")
    if diff:
        say()
        say(diff.rstrip("\n"))
