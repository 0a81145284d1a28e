import { parentPort } from 'node:worker_threads'
import { readEmail } from './read-email.ts'

/** The thread behind `mail-thread.ts`. */
parentPort?.on('message', async (source: Uint8Array) => {
  parentPort?.postMessage(await readEmail(Buffer.from(source)))
})
