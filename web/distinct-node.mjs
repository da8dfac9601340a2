// The entry for distinct sketches in Node, where node.mjs makes files readable.
import './node.mjs';

export { Distinct, TamisError } from './distinct.mjs';
