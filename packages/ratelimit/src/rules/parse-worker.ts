import { parentPort, workerData } from 'node:worker_threads'
import { parseRuleFiles } from './parse.ts'
import { createRowWriter } from './parse-rows.ts'
import type { ParseSummary, ParseThreadData, ParseThreadMessage } from './parse-thread.ts'
import type { RuleRecord } from './rule.ts'

/** The thread behind `parse-thread.ts`. It speaks when it is asked, so nothing piles up there. */
const { fileNames, mergeDomains, rulesPerPart }: ParseThreadData = workerData
const texts = fileNames.map(() => '')
let rules: readonly RuleRecord[] = []
let handedOver = 0
let writeRows = createRowWriter({ domains: [], files: [] })

parentPort?.on('message', (message: ParseThreadMessage) => {
  if (message.kind === 'text') texts[message.file] += message.text
  else parentPort?.postMessage(message.kind === 'parse' ? parse() : nextRows())
})

function parse(): ParseSummary {
  const files = fileNames.map((name, index) => ({ name, text: texts[index] ?? '' }))
  const parsed = parseRuleFiles(files, { mergeDomains })
  const { domains } = parsed.rules
  rules = parsed.rules.rules
  writeRows = createRowWriter({ domains, files: fileNames })
  return { domains, ruleCount: rules.length, faults: parsed.faults, warnings: parsed.warnings }
}

function nextRows(): string {
  const part = rules.slice(handedOver, handedOver + rulesPerPart)
  handedOver += part.length
  return writeRows(part)
}
