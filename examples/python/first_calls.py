import sys
from uuid import uuid4

from features_client import Client as Features
from features_client.api.features import add_feature, list_features, remove_feature
from features_client.api.resources import list_resources
from features_client.models import ResourcePage
from ledger_client import Client as Ledger
from ledger_client.api.transactions import get_transaction, search_transactions
from ledger_client.models import Payment, Problem, TransactionSearchResponse

ledger = Ledger(base_url=sys.argv[1], raise_on_unexpected_status=True)

payment = get_transaction.sync("demo-success", client=ledger, account_id="demo")
assert isinstance(payment, Payment), payment
assert (payment.amount, payment.state.status) == (4250, "success"), payment
print("payment", payment.transaction_id, payment.amount, payment.state.status)

missing = get_transaction.sync("demo-missing", client=ledger, account_id="demo")
assert isinstance(missing, Problem) and missing.status == 404, missing
print("problem", missing.status, missing.detail)

found = search_transactions.sync(client=ledger, account_id=["demo"], payment_states=["success", "declined"])
assert isinstance(found, TransactionSearchResponse) and found.total == 3, found
print("found", *(transaction.transaction_id for transaction in found.results))

features = Features(base_url=sys.argv[2], raise_on_unexpected_status=True)
customer = str(uuid4())
trial = f"trial ü {customer}"
names = ["dark-mode", trial]
for name in names:
    added = add_feature.sync_detailed("customer", customer, name, client=features)
    assert added.status_code == 201, added
listed = list_features.sync("customer", customer, client=features)
assert listed == names, listed
print("features", *listed)

removed = remove_feature.sync_detailed("customer", customer, "dark-mode", client=features)
assert removed.status_code == 204, removed
with_trial = list_resources.sync("customer", client=features, feature=trial)
assert isinstance(with_trial, ResourcePage) and with_trial.ids == [customer], with_trial
print("customers with the feature", *with_trial.ids)
