import pytest
import torch

from tbgat.generate import uniform
from tbgat.policy.network import TBGAT
from tbgat.policy.threads import add_gradients, single_threaded, together
from tests.policy.states import walk


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_gradients_of_many_losses(threads):
    network = TBGAT("tiny")
    names = network.config.move_features
    _, seen = walk([uniform(6, 5, s) for s in range(3)], steps=4, names=names)
    losses = [lambda o=o: network(o).square().sum() for o in seen]
    values = add_gradients(network, losses, threads)
    mine = [p.grad.clone() for p in network.parameters()]
    network.zero_grad()
    expected = [loss() for loss in losses]
    sum(expected).backward()
    torch.testing.assert_close(torch.tensor(values), torch.stack(expected).detach())
    for gradient, parameter in zip(mine, network.parameters(), strict=True):
        torch.testing.assert_close(gradient, parameter.grad, rtol=1e-4, atol=1e-5)
    add_gradients(network, losses, threads)
    for gradient, parameter in zip(mine, network.parameters(), strict=True):
        torch.testing.assert_close(2 * gradient, parameter.grad, rtol=1e-4, atol=1e-5)
    assert add_gradients(network, [], threads) == []


def test_results_come_in_order_and_errors_come_out():
    assert together([lambda i=i: i for i in range(4)]) == [0, 1, 2, 3]

    def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        together([int, fail])
    with pytest.raises(ValueError, match="no"):
        together([fail, int])
    with single_threaded():
        assert torch.get_num_threads() == 1
