import { parentPort } from 'node:worker_threads'
import { readEmail } from './read-email.ts'

/** The thread behind `mail-thread.ts`. */
parentPort?.on('message', (source: Uint8Array) => void answer(source))
parentPort?.postMessage('loaded')

async function answer(source: Uint8Array): Promise<void> {
  parentPort?.postMessage(await readEmail(Buffer.from(source)))
}
