/**
 * @slow
 */
import { test } from 'node:test'
import { drills } from '../drills/index.ts'
import { runDrills } from '../drills/run-drills.ts'

test('a plug-in of each kind is one new file and one entry in an index', (t) =>
  runDrills(t, drills))
