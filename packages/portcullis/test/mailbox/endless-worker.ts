// A worker that never finishes parsing a mail with this subject, to test the time limit.

import { parentPort } from 'node:worker_threads'
import { readEmail } from '../../src/mailbox/read-email.ts'

parentPort?.on('message', async (source: Uint8Array) => {
  const content = await readEmail(Buffer.from(source))
  while (content.subject === 'endless');
  parentPort?.postMessage(content)
})
parentPort?.postMessage('loaded')
