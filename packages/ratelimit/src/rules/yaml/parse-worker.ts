import { parentPort, workerData } from 'node:worker_threads'
import { buffersOf, packRules } from '../../hot/index.ts'
import { parseRuleFiles } from './parse.ts'
import type { PackedParse, ParseThreadData, ParseThreadMessage } from './parse-thread.ts'

/** The entry point of the thread that `parse-thread.ts` starts. */
const { fileNames, mergeDomains }: ParseThreadData = workerData
const texts = fileNames.map(() => '')

parentPort?.on('message', (message: ParseThreadMessage) => {
  if (message.kind === 'text') {
    texts[message.file] += message.text
  } else {
    const parsed = parse()
    parentPort?.postMessage(parsed, buffersOf(parsed.rules))
  }
})

function parse(): PackedParse {
  const files = fileNames.map((name, index) => ({ name, text: texts[index] ?? '' }))
  const { rules, faults, warnings } = parseRuleFiles(files, { mergeDomains })
  return { rules: packRules(rules), faults, warnings }
}
