/** Takes screenshots of every page: `node services/payment-service/browser/screenshots.ts`. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { approvedCard, authenticatedCard, declinedCard } from '../src/testing/samples.ts';
import { entries, fillIn, openScene, payButton, press, type Scene } from './customer.ts';

const looks = [
  { name: '320', options: { viewport: { width: 320, height: 640 } } },
  { name: '1280', options: { viewport: { width: 1280, height: 800 } } },
  { name: '1280-dark', options: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' } },
] as const;

async function takePictures(scene: Scene, folder: string): Promise<void> {
  const order = { product: 'Darjeeling First Flush, 250 g', amount: 4_990, orderNumber: 'T-2041' };
  for (const { name, options } of looks) {
    const { page } = await scene.newCustomer(options);
    const shoot = (what: string) =>
      page.screenshot({ path: join(folder, `${what}-${name}.png`), fullPage: true });
    const open = async (fields: object = {}) =>
      page.goto(scene.checkoutUrl(await scene.harness.create({ ...order, ...fields })));
    const pay = async (number: string) => {
      await fillIn(page, entries(number));
      await press(payButton(page));
    };
    await open();
    await shoot('card');
    await fillIn(page, { expiry: '13/99' });
    await press(payButton(page));
    await shoot('error');
    await pay(authenticatedCard);
    await shoot('authentication');
    await press(payButton(page));
    await shoot('approved');
    await open({ redirectFailUrl: undefined, locale: 'de' });
    await pay(declinedCard);
    await shoot('declined-de');
    const token = await scene.harness.create({ ...order, ...scene.shop.redirects });
    await page.goto(scene.checkoutUrl(token));
    await pay(approvedCard);
    await page.goto(scene.checkoutUrl(token));
    await shoot('approved-shop');
    await page.goto(scene.checkoutUrl('none'));
    await shoot('trouble');
  }
}

const folder = await mkdtemp(join(tmpdir(), 'checkout-screenshots-'));
const scene = await openScene();
try {
  await takePictures(scene, folder);
} finally {
  await scene.close();
}
process.stdout.write(`${folder}\n`);
