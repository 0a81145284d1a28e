import { parentPort } from 'node:worker_threads'
import { readEmail } from './read-email.ts'

// The program of the thread that mail-thread.ts starts.
parentPort?.on('message', (source: Uint8Array) => void answer(source))
parentPort?.postMessage('loaded')

async function answer(source: Uint8Array): Promise<void> {
  parentPort?.postMessage(await readEmail(Buffer.from(source)))
}
