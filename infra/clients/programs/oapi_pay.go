// With the client that oapi-codegen makes.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"example.org/tollgate"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	withKey := tollgate.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Args[2])
		return nil
	})
	client := must(tollgate.NewClientWithResponses(os.Args[1], withKey))
	ctx := context.Background()
	var order tollgate.PaymentRequest
	order.Product, order.Amount, order.Currency, order.OrderNumber = "Tea", 3_000_000_000, "JPY", &os.Args[3]
	order.Card = &tollgate.Card{Pan: "4392963203551251", Expires: "12/2039", Holder: "Ada Lovelace", Cvv: "123"}
	made := must(client.CreatePaymentWithResponse(ctx, nil, order)).JSON200
	amount := int64(2_500_000_000)
	refund := tollgate.RefundRequest{Token: made.Token, Amount: &amount}
	key := &tollgate.RefundPaymentParams{IdempotencyKey: os.Args[3]}
	given := must(client.RefundPaymentWithResponse(ctx, key, refund)).JSON200
	shown := must(client.RetrievePaymentWithResponse(ctx, made.Token, nil)).JSON200
	fmt.Println(shown.Payment.Status, *shown.Payment.ApprovedAmount, given.Refund.Amount)
}
