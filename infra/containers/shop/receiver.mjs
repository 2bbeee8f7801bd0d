// A team's server in its own container: prints each received webhook as a line of JSON.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const read = (name) => readFileSync(new URL(name, import.meta.url));

createServer({ key: read('key.pem'), cert: read('certificate.pem') }, (request, response) => {
  let text = '';
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    console.log(JSON.stringify({ headers: request.headers, body: JSON.parse(text) }));
    response.writeHead(204).end();
  });
}).listen(8443, '0.0.0.0');
process.on('SIGTERM', () => process.exit(0));
