import { readFile, stat, writeFile } from 'node:fs/promises'
import process from 'node:process'
import { toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import { type Command, type CommandIo, usesColor } from '@portcullis/service-kit/cli/command'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { toCode, toReason } from '@portcullis/service-kit/text/reason'
import { type Config, parseConfig } from '../config/config.ts'
import type { RuleSet } from '../rules/model/rule.ts'
import { parseRuleFiles } from '../rules/yaml/parse.ts'
import {
  type Inspection,
  inspectRules,
  toFinding,
  writeFindings,
} from '../tools/check/rule-files.ts'
import { type OpenedLog, openLog } from '../tools/replay/log/open-log.ts'
import { createProgressBar } from '../tools/replay/progress-bar.ts'
import { type LogSummary, type Progress, replay as replayLogs } from '../tools/replay/replay.ts'
import { drawChart } from '../tools/replay/report/chart.ts'
import { compareReports, toComparisonText } from '../tools/replay/report/comparison.ts'
import { type Report, toReport } from '../tools/replay/report/report.ts'
import { toReportText } from '../tools/replay/report/report-text.ts'
import { Simulation, type SimulationSettings } from '../tools/replay/simulation/simulation.ts'
import { parseReplayArguments, type ReplayRequest, usage } from './replay-arguments.ts'

export const replay: Command = {
  summary: 'show which recorded requests a set of rules would have refused',
  usage,
  async run(args, io) {
    const request = parseReplayArguments(args)
    if (typeof request === 'string') {
      io.stderr.write(toArgumentError('ratelimit replay', request))
      return 2
    }
    try {
      return await run(request, io)
    } catch (error) {
      if (!(error instanceof ReplayError)) throw error
      io.stderr.write(`${error.message}\n`)
      return error.exitCode
    }
  },
}

/** Ends the command. The message says why. */
class ReplayError extends Error {
  override readonly name = 'ReplayError'
  readonly exitCode: number

  constructor(message: string, exitCode: number) {
    super(message)
    this.exitCode = exitCode
  }
}

async function run(request: ReplayRequest, io: CommandIo): Promise<number> {
  const config = readConfig(io)
  const mergeDomains = request.merge || config.rules.mergesDomains
  const paths = [request.rules, ...(request.compareWith === undefined ? [] : [request.compareWith])]
  const sets: RuleSet[] = []
  for (const path of paths) sets.push(await loadRules(path, mergeDomains, io))
  const logs: OpenedLog[] = []
  for (const path of request.logs) logs.push(await open(path))

  const settings = toSimulationSettings(config, request)
  const simulations = sets.map((rules) => new Simulation(rules, settings))
  const log = await replayThenClose(request, logs, simulations)
  const names = logs.map(({ name }) => name)
  const reports = simulations.map((simulation, index) =>
    toReport(simulation, log, { rules: paths[index] ?? '', logs: names, top: request.top }),
  )
  writeReports(reports, request, io)
  if (log.lines > 0 && log.unreadable === log.lines) io.stderr.write(toFormatAdvice(request))
  if (request.chart !== undefined) await saveChart(request.chart, reports)
  if (log.error !== undefined) throw new ReplayError(log.error, 1)
  if (log.isCut) return 130
  return request.strict && log.unreadable > 0 ? 1 : 0
}

/** The output if no line of the log can be read. */
function toFormatAdvice({ isAccessLog }: ReplayRequest): string {
  const advice = isAccessLog
    ? 'Set the format of the log with --format.'
    : 'If it is an access log, pass --domain and --descriptor.'
  return `No line of the log can be read. ${advice} See: ratelimit replay --help\n`
}

async function replayThenClose(
  request: ReplayRequest,
  logs: readonly OpenedLog[],
  simulations: readonly Simulation[],
): Promise<LogSummary> {
  try {
    return await replayWithProgress(request, logs, simulations)
  } finally {
    await close(simulations)
  }
}

async function close(simulations: readonly Simulation[]): Promise<void> {
  await Promise.all(simulations.map((simulation) => simulation[Symbol.asyncDispose]()))
}

function readConfig(io: CommandIo): Config {
  const { config, faults } = parseConfig(io.env)
  if (faults.length === 0) return config
  const lines = faults.map((fault) => `  ${toFaultText(fault)}`)
  throw new ReplayError(`The environment is invalid:\n${lines.join('\n')}`, 2)
}

async function loadRules(path: string, mergeDomains: boolean, io: CommandIo): Promise<RuleSet> {
  const { rules, findings, texts } = await inspect(path, mergeDomains).catch((error: unknown) => {
    if (toCode(error) === '') throw error
    throw new ReplayError(`The rules ${path} cannot be read: ${toReason(error)}`, 2)
  })
  const faults = findings.filter(({ severity }) => severity === 'fault')
  if (faults.length === 0) return rules
  writeFindings(faults, texts, { ...io, stdout: io.stderr })
  throw new ReplayError('The rules have errors and would not be loaded.', 1)
}

/** Reads a folder, or one file with any name. */
async function inspect(path: string, mergeDomains: boolean): Promise<Inspection> {
  if ((await stat(path)).isDirectory()) return await inspectRules(path, mergeDomains)
  const text = await readFile(path, 'utf8')
  const { rules, faults } = parseRuleFiles([{ name: path, text }], { mergeDomains })
  const findings = faults.map((fault) => toFinding(fault, 'fault'))
  return { fileCount: 1, rules, findings, texts: new Map([[path, text]]) }
}

async function open(path: string): Promise<OpenedLog> {
  try {
    return await openLog(path, process.stdin)
  } catch (error) {
    throw new ReplayError(`The log ${path} cannot be read: ${toReason(error)}`, 2)
  }
}

function toSimulationSettings(config: Config, request: ReplayRequest): SimulationSettings {
  const { store, decisions } = config
  return {
    decisions: { ...decisions, headerNames: undefined, addsDynamicMetadata: false },
    maxBytes: store.kind === 'memory' ? store.maxBytes : 2 ** 30,
    hasRuleSeries: request.chart !== undefined || request.json,
  }
}

/** Shows a progress bar in a terminal. The first Ctrl-C ends the replay; a second ends the process. */
async function replayWithProgress(
  { readLine, reorderMs }: ReplayRequest,
  logs: readonly OpenedLog[],
  simulations: readonly Simulation[],
): Promise<LogSummary> {
  const interruption = new AbortController()
  const interrupt = () => interruption.abort()
  process.once('SIGINT', interrupt)
  const { stderr } = process
  const bar = stderr.isTTY ? createProgressBar(stderr, () => performance.now()) : undefined
  try {
    const onProgress = (progress: Progress) => bar?.show(progress)
    const { signal } = interruption
    return await replayLogs({ logs, readLine, simulations, reorderMs, signal, onProgress })
  } finally {
    process.off('SIGINT', interrupt)
    bar?.clear()
  }
}

function writeReports(
  [report, other]: readonly Report[],
  { json, all }: ReplayRequest,
  io: CommandIo,
): void {
  if (report === undefined) return
  const comparison = other && compareReports(report, other)
  if (json) {
    const compared = comparison && { comparison, compared: other }
    io.stdout.write(`${JSON.stringify({ ...report, ...compared }, undefined, 2)}\n`)
    return
  }
  const hasColor = usesColor(io)
  io.stdout.write(toReportText(report, { hasColor, showsAll: all }))
  if (comparison !== undefined) io.stdout.write(`\n${toComparisonText(comparison, hasColor)}`)
}

async function saveChart(path: string, [report]: readonly Report[]): Promise<void> {
  if (report === undefined) return
  try {
    await writeFile(path, drawChart(report))
  } catch (error) {
    throw new ReplayError(`The chart cannot be written to ${path}: ${toReason(error)}`, 1)
  }
}
