// The page: each card is ready when its modules are.
import { element } from './elements.js';
import './vrf_card.js';
import './xmss_card.js';
import './vdf_cards.js';
import './tss_card.js';

element('state').className = 'state good';
element('state').textContent = 'Ready.';
