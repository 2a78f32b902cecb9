"""Random legal instances for property tests: ragged, recirculating, zero durations, any names."""

from hypothesis import strategies as st

from tbgat import Instance

__all__ = ["instances", "names", "shops"]

shops = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=5),
    min_size=1,
    max_size=5,
)

# Letters of any alphabet, digits, blanks, and everything a format might choke on.
_letters = st.text(
    alphabet=st.one_of(
        st.sampled_from(" #\"',;:\\/+[]{}01-\t\n"), st.characters(exclude_categories=["Cc", "Cs"])
    ),
    min_size=1,
    max_size=6,
)
names = _letters.map(lambda text: " ".join(text.split())).filter(bool)
_tricky = st.sampled_from(
    ["0", "1", "2", "01", "#1", "instance x", '"', "a,b", "-", "ragged", "1.0"]
)


@st.composite
def instances(draw, labelled=True):
    """Any legal instance, with any subset of the labels."""
    jobs = draw(
        st.lists(
            st.lists(
                st.tuples(st.integers(0, 4), st.one_of(st.integers(0, 9), st.integers(0, 10**12))),
                min_size=1,
                max_size=5,
            ),
            min_size=1,
            max_size=5,
        )
    )
    count = 1 + max(machine for job in jobs for machine, _ in job) + draw(st.integers(0, 2))
    label = st.one_of(names, _tricky)
    return Instance(
        jobs,
        num_machines=count,
        name=draw(st.one_of(st.just(""), label)) if labelled else "",
        job_names=draw(_distinct(label, len(jobs))) if labelled else None,
        machine_names=draw(_distinct(label, count)) if labelled else None,
    )


def _distinct(label, count):
    return st.one_of(
        st.none(), st.lists(label, min_size=count, max_size=count, unique=True).map(tuple)
    )
