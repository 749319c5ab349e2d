// @ts-check
// Starts the page.
import {Page} from './page.js';

new Page().start();
