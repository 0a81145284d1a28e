// A thread that never finishes the mail with this subject, for a test that waits until it is ended.

import { parentPort } from 'node:worker_threads'
import { readEmail } from '../../src/mailbox/read-email.ts'

parentPort?.on('message', async (source: Uint8Array) => {
  const content = await readEmail(Buffer.from(source))
  while (content.subject === 'endless');
  parentPort?.postMessage(content)
})
parentPort?.postMessage('loaded')
