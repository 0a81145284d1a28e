import { parentPort, workerData } from 'node:worker_threads'
import { buffersOf, packRules } from '../../../hot/index.ts'
import { parseResources } from './parse-resources.ts'
import type { PackedResponse, ResourceThreadData } from './resource-thread.ts'

/** The entry point of the thread that `resource-thread.ts` starts. */
const { response, mergeDomains }: ResourceThreadData = workerData
const { rules, faults, warnings } = parseResources(response, { mergeDomains })
const parsed: PackedResponse = { rules: packRules(rules), faults, warnings }
parentPort?.postMessage(parsed, buffersOf(parsed.rules))
