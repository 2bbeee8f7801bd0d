import type { Texts } from './texts.ts';

export const es: Texts = {
  testMode: 'Modo de prueba: no se mueve dinero real',
  merchant: 'Comercio',
  orderNumber: 'Número de pedido',
  payByCard: 'Pagar con tarjeta',
  fields: {
    number: 'Número de tarjeta',
    expiry: 'Fecha de caducidad',
    cvv: 'Código de seguridad',
    holder: 'Nombre en la tarjeta',
  },
  hints: { expiry: 'MM/AA', cvv: '3 o 4 dígitos' },
  faults: {
    number: 'Introduzca el número de tarjeta: de 12 a 19 dígitos',
    numberMistyped: 'El número de tarjeta tiene un error: revise los dígitos',
    expiry: 'Introduzca la fecha de caducidad como MM/AA',
    expiryPast: 'La tarjeta ha caducado: use otra tarjeta',
    cvv: 'Introduzca el código de seguridad: 3 o 4 dígitos',
    holder: 'Introduzca el nombre tal como figura en la tarjeta',
  },
  checkEntries: 'Revise los datos introducidos',
  errorPrefix: 'Error',
  pay: (amount) => `Pagar ${amount}`,
  privacy: 'Los datos de su tarjeta se envían cifrados y no se comparten con el comercio.',
  authentication: {
    title: 'Confirme su pago',
    text: 'Su banco pregunta si es usted quien realiza este pago.',
    confirm: 'Confirmar el pago',
    reject: 'Rechazar',
  },
  outcomes: {
    approved: { title: 'Pago realizado', text: 'Gracias. Su pago se ha efectuado.' },
    held: {
      title: 'Pago autorizado',
      text: 'Gracias. El importe queda retenido hasta que el comercio lo confirme.',
    },
    declined: {
      title: 'Pago rechazado',
      text: 'El pago no se ha efectuado y no se le ha cobrado nada. Para usar otra tarjeta, vuelva a hacer el pedido.',
    },
    refunded: { title: 'Pago reembolsado', text: 'Se le ha devuelto el importe.' },
    expired: {
      title: 'Pago caducado',
      text: 'El plazo de este pago ha terminado y no se le ha cobrado nada. Vuelva a hacer el pedido.',
    },
  },
  backToMerchant: 'Volver al comercio',
  troubles: {
    notFound: {
      title: 'Pago no encontrado',
      text: 'No hay ningún pago en esta dirección. Compruebe el enlace.',
    },
    unreadable: {
      title: 'Datos ilegibles',
      text: 'Los datos enviados no se pueden leer. Vuelva atrás e inténtelo de nuevo.',
    },
    failed: { title: 'Algo ha fallado', text: 'El fallo es nuestro. Inténtelo de nuevo en un momento.' },
  },
};
