import type { Texts } from './texts.ts';

export const zh: Texts = {
  testMode: '测试模式：不会产生真实扣款',
  merchant: '商户',
  orderNumber: '订单号',
  payByCard: '银行卡支付',
  fields: { number: '卡号', expiry: '有效期', cvv: '安全码', holder: '持卡人姓名' },
  hints: { expiry: '月/年（MM/YY）', cvv: '3 或 4 位数字' },
  faults: {
    number: '请输入卡号：12 至 19 位数字',
    numberMistyped: '卡号输入有误：请检查数字',
    expiry: '请按 MM/YY 格式输入有效期',
    expiryPast: '此卡已过期：请使用其他卡',
    cvv: '请输入安全码：3 或 4 位数字',
    holder: '请输入卡上所示的姓名',
  },
  checkEntries: '请检查您填写的信息',
  errorPrefix: '错误',
  pay: (amount) => `支付 ${amount}`,
  privacy: '您的卡信息将加密传输，不会提供给商户。',
  authentication: {
    title: '确认付款',
    text: '您的银行需要确认此笔付款是否由您本人发起。',
    confirm: '确认付款',
    reject: '拒绝',
  },
  outcomes: {
    approved: { title: '支付成功', text: '谢谢，您的付款已完成。' },
    held: { title: '付款已授权', text: '谢谢，款项已冻结，等待商户确认。' },
    declined: { title: '支付被拒绝', text: '付款未完成，您未被扣款。如需使用其他卡，请重新下单。' },
    refunded: { title: '已退款', text: '款项已退还给您。' },
    expired: { title: '支付已过期', text: '此笔付款已超时，您未被扣款。请重新下单。' },
  },
  backToMerchant: '返回商户',
  troubles: {
    notFound: { title: '未找到付款', text: '此地址没有对应的付款，请检查链接。' },
    unreadable: { title: '无法读取信息', text: '无法读取提交的内容，请返回重试。' },
    failed: { title: '出现错误', text: '问题出在我们这边，请稍后重试。' },
  },
};
