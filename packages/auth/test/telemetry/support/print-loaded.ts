import { registerHooks } from 'node:module'
import process from 'node:process'

// For `node --import`: prints the loaded OpenTelemetry packages to standard error.
const said = new Set<string>()
registerHooks({
  load(url, context, nextLoad) {
    const [, name] = /node_modules\/(@opentelemetry\/[^/]+)/.exec(url) ?? []
    if (name !== undefined && !said.has(name)) process.stderr.write(`loaded ${name}\n`)
    said.add(name ?? '')
    return nextLoad(url, context)
  },
})
