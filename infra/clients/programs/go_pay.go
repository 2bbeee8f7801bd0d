// With the client that openapi-generator makes for Go.
package main

import (
	"context"
	"fmt"
	"os"

	tollgate "example.org/tollgate"
)

func must[T any](value T, _ any, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	configuration := tollgate.NewConfiguration()
	configuration.Servers = tollgate.ServerConfigurations{{URL: os.Args[1]}}
	client := tollgate.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), tollgate.ContextAccessToken, os.Args[2])
	order := tollgate.NewPaymentRequest("Tea", 3_000_000_000, "JPY")
	order.SetOrderNumber(os.Args[3])
	order.SetCard(*tollgate.NewCard("4392963203551251", "12/2039", "Ada Lovelace", "123"))
	made := must(client.PaymentsAPI.CreatePayment(ctx).PaymentRequest(*order).Execute())
	refund := tollgate.NewRefundRequest(made.Token)
	refund.SetAmount(2_500_000_000)
	given := must(client.RefundsAPI.RefundPayment(ctx).IdempotencyKey(os.Args[3]).RefundRequest(*refund).Execute())
	shown := must(client.PaymentsAPI.RetrievePayment(ctx, made.Token).Execute())
	fmt.Println(shown.Payment.Status, *shown.Payment.ApprovedAmount, given.Refund.Amount)
}
