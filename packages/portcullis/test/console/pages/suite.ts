import type { TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import type { TestWorld } from '../../support/world.ts'

export interface Scene {
  readonly world: TestWorld
  readonly browser: Browser
}

/** Runs the tests of one page, as subtests of `t`. */
export type RunSuite = (t: TestContext, scene: Scene) => Promise<void>
