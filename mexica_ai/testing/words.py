"""The check of a game's words."""

from __future__ import annotations

from mexica_ai.testing.case import Case, for_each_start


def _words(case: Case) -> None:
    words, text, views = case.game.words, case.game.text, case.game.views
    for state, action in case.some():
        if action is None:
            continue
        before, spelt = case.fields(state), text.format_action(action)
        after = state.copy()
        after.apply(action)
        found = [words.tell([spelt], before, case.fields(after)), words.round_of(before)]
        if views is not None:
            for viewer in (None, *range(state.num_players)):
                old, new = views.view(case.fields(state), viewer), views.view(case.fields(after), viewer)
                is_secret = viewer != state.current_player and views.is_secret(spelt, case.fields(after))
                found.append(words.tell([spelt.split()[0] if is_secret else spelt], old, new))
        for told in found:
            is_clause = isinstance(told, str) and told.isprintable() and told == told.strip()
            case.expect(is_clause, f"{spelt} is told as {told!r}; expected a clause", state)
        joins = words.joins([spelt], spelt)
        case.expect(isinstance(joins, bool), f"joins answers {joins!r} for {spelt}; expected a bool", state)
        if joins:
            told = words.tell([spelt, spelt], before, case.fields(after))
            case.expect(isinstance(told, str), f"{spelt} is told twice as {told!r}; expected a clause", state)


check_words = for_each_start(_words)
