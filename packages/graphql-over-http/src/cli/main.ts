#!/usr/bin/env node
import './require-node.ts'
import process from 'node:process'

const { run } = await import('./run.ts')
await run(process.argv.slice(2))
