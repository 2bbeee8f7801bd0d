"""With the client that openapi-python-client makes."""

import sys

from tollgate_client import AuthenticatedClient
from tollgate_client.api.payments import create_payment, retrieve_payment
from tollgate_client.api.refunds import refund_payment
from tollgate_client.models import PaymentRequest, Card, RefundRequest

url, key, name = sys.argv[1:]
card = Card(pan="4392963203551251", expires="12/2039", holder="Ada Lovelace", cvv="123")
order = PaymentRequest(product="Tea", amount=3_000_000_000, currency="JPY", order_number=name, card=card)
with AuthenticatedClient(base_url=url, token=key) as client:
    made = create_payment.sync(client=client, body=order)
    refund = RefundRequest(token=made.token, amount=2_500_000_000)
    given = refund_payment.sync(client=client, body=refund, idempotency_key=name)
    shown = retrieve_payment.sync(made.token, client=client)
    print(shown.payment.status, shown.payment.approved_amount, given.refund.amount)
