/** With the clients that openapi-generator makes for Java, of the libraries `native` and `okhttp-gson`. */
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.PaymentsApi;
import org.openapitools.client.api.RefundsApi;
import org.openapitools.client.model.Card;
import org.openapitools.client.model.CreatedPayment;
import org.openapitools.client.model.CreatedRefund;
import org.openapitools.client.model.PaymentAnswer;
import org.openapitools.client.model.PaymentRequest;
import org.openapitools.client.model.RefundRequest;

public class Pay {
  public static void main(String[] args) throws Exception {
    ApiClient client = Client.create(args[0], args[1]);
    PaymentsApi payments = new PaymentsApi(client);
    Card card =
        new Card().pan("4392963203551251").expires("12/2039").holder("Ada Lovelace").cvv("123");
    PaymentRequest order =
        new PaymentRequest().product("Tea").amount(3_000_000_000L).currency("JPY").orderNumber(args[2]).card(card);
    CreatedPayment made = payments.createPayment(order, null);
    RefundRequest refund = new RefundRequest().token(made.getToken()).amount(2_500_000_000L);
    CreatedRefund given = new RefundsApi(client).refundPayment(args[2], refund);
    PaymentAnswer shown = payments.retrievePayment(made.getToken(), null, null);
    System.out.println(
        shown.getPayment().getStatus() + " " + shown.getPayment().getApprovedAmount() + " " + given.getRefund().getAmount());
  }
}
