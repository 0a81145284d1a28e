// Loaded into every process of a test run (NODE_OPTIONS=--import): replaces a part of one module
// when it is loaded. No file changes, so several mutants can be tested at the same time.

import childProcess, { ChildProcess } from 'node:child_process'
import { registerHooks, syncBuiltinESMExports } from 'node:module'

const { PORTCULLIS_MUTANT: text, NODE_OPTIONS: nodeOptions = '' } = process.env

if (text) {
  const { url: mutated, start, end, replacement } = JSON.parse(text)
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (url.split('?')[0] !== mutated) return loaded
      // Types have been replaced by spaces or are still there, so the offsets are the same.
      const source = toText(loaded.source)
      return { ...loaded, source: source.slice(0, start) + replacement + source.slice(end) }
    },
  })
}

function toText(source: string | ArrayBuffer | NodeJS.TypedArray = ''): string {
  return typeof source === 'string' ? source : new TextDecoder().decode(source)
}

// Tests start programs with their own environment. These programs must be mutated too.
const spawn: unknown = Reflect.get(ChildProcess.prototype, 'spawn')
Reflect.set(
  ChildProcess.prototype,
  'spawn',
  function spawnMutated(this: ChildProcess, options: { envPairs?: string[] }) {
    if (options.envPairs) options.envPairs = toPairs(withMutant(fromPairs(options.envPairs)))
    return typeof spawn === 'function' ? Reflect.apply(spawn, this, [options]) : undefined
  },
)
for (const name of ['spawnSync', 'execFileSync', 'execSync'] as const) {
  const original = childProcess[name]
  Reflect.set(childProcess, name, (...args: unknown[]) =>
    Reflect.apply(original, childProcess, args.map(withMutantInOptions)),
  )
}
syncBuiltinESMExports()

type Environment = Readonly<Record<string, string | undefined>>

function withMutant(env: Environment): Environment {
  const chosen = env['NODE_OPTIONS'] ?? ''
  const options = chosen.includes(nodeOptions) ? chosen : `${nodeOptions} ${chosen}`.trim()
  return { ...env, NODE_OPTIONS: options, ...(text ? { PORTCULLIS_MUTANT: text } : {}) }
}

function withMutantInOptions(argument: unknown): unknown {
  const hasEnv = typeof argument === 'object' && argument !== null && 'env' in argument
  if (!hasEnv || typeof argument.env !== 'object') return argument
  return { ...argument, env: withMutant({ ...argument.env }) }
}

function fromPairs(pairs: readonly string[]): Environment {
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
}

function toPairs(env: Environment): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`)
}
