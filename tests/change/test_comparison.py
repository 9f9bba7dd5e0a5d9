from sanderling.change.comparison import Origin, Piece, blame, pieces, words

OLD = ["Title", "first", "second", "price 19.99", "to go", "wanders", "last"]
NEW = ["Title", "wanders", "first", "second", "price 24.99", "fresh", "last"]


def test_pieces_in_the_order_of_the_new_version() -> None:
    shown = pieces(OLD, NEW)
    assert [piece.kind for piece in shown].count("moved") == 1
    assert Piece("moved", "wanders", "wanders") in shown
    assert Piece("edited", "price 19.99", "price 24.99") in shown
    assert [piece.new for piece in shown if piece.new] == NEW
    assert sorted(piece.old for piece in shown if piece.old) == sorted(OLD)


def test_what_left_stands_where_it_was() -> None:
    assert pieces(["a", "b", "c"], ["a", "c"]) == [
        Piece("same", "a", "a"),
        Piece("removed", "b", ""),
        Piece("same", "c", "c"),
    ]
    assert pieces(["a"], []) == [Piece("removed", "a", "")]
    assert pieces([], ["a"]) == [Piece("added", "", "a")]


def test_what_moved_stands_in_both_places_for_those_who_ask() -> None:
    assert pieces(["a", "b", "c"], ["c", "a", "b"], places=True) == [
        Piece("moved", "", "c"),
        Piece("same", "a", "a"),
        Piece("same", "b", "b"),
        Piece("moved", "c", ""),
    ]


def test_words() -> None:
    left, right = words("the price is 19.99 today", "the price is 24.99 now today")
    assert left == [(False, "the price is"), (True, "19.99"), (False, "today")]
    assert right == [(False, "the price is"), (True, "24.99 now"), (False, "today")]
    assert words("x " * 3000, "y")[1] == [(True, "y")]


def test_blame() -> None:
    versions = [["a", "b"], ["new", "a", "b"], ["new", "a", "b!"], ["b!", "new", "a"]]
    assert blame(versions) == [Origin(0, 2), Origin(1, 1), Origin(0, 0)]
    assert blame([]) == []
