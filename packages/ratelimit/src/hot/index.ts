/**
 * Code that is harder to read than necessary, because it makes decisions or reloads faster. Other folders
 * import only this file. Each file states what was measured, even if the gain is small.
 *
 * | what | for |
 * |---|---|
 * | packed rules | all rules in a few buffers: a reload does not block decisions, and a match touches few cache lines |
 * | request cache | repeated requests are neither decoded nor matched again |
 * | local cache | counters that are over their limits are refused without the store |
 * | key template | keys that differ in one value are encoded without creating their text |
 */
export { KeyTemplate } from './key-template.ts'
export { createLocalCache, type LocalCache } from './local-cache.ts'
export { packRules } from './pack-rules.ts'
export { buffersOf, noRow, type PackedRules } from './packed-rules.ts'
export { createEncodedRequests } from './request-cache.ts'
export { RuleLimit, RuleMatch, toPlainLimit } from './rule-limit.ts'
export { RuleTable } from './rule-table.ts'
