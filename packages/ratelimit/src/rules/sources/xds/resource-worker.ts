import { parentPort, workerData } from 'node:worker_threads'
import { createRowWriter } from '../../parse-rows.ts'
import { parseResources } from './parse-resources.ts'
import type { ResourceSummary, ResourceThreadData } from './resource-thread.ts'

/** The thread behind `resource-thread.ts`: parses at once, then hands over a part when asked. */
const { response, mergeDomains, rulesPerPart }: ResourceThreadData = workerData
const { rules, names, faults, warnings } = parseResources(response, { mergeDomains })
const { domains } = rules
const summary: ResourceSummary = {
  domains,
  names,
  ruleCount: rules.rules.length,
  faults,
  warnings,
}
const writeRows = createRowWriter({ domains, files: names })
let handedOver = 0

parentPort?.on('message', () => {
  const part = rules.rules.slice(handedOver, handedOver + rulesPerPart)
  handedOver += part.length
  parentPort?.postMessage(writeRows(part))
})
parentPort?.postMessage(summary)
