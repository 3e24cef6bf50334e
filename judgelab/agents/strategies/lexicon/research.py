"""Words that tell what a sentence of a research paper is about."""

from __future__ import annotations

from judgelab.agents.strategies.lexicon.base import Lexicon, phrases

CLAIM = Lexicon.of(
    phrases(
        """
        we propose, we introduce, we present, we show, we study, we ask, we argue, we let
        we develop, this paper, this work, our method, our approach, our contribution
        contributions, contribution, novel, we demonstrate, we find, we investigate, we describe
        is proposed, we address
        """
    )
)
METHOD = Lexicon.of(
    phrases(
        """
        method, approach, algorithm, model, models, network, networks, architecture, objective
        loss, training, train, trained, layer, layers, procedure, framework, estimator, policy
        encoder, decoder, module, optimise, optimize, gradient, gradients, compute, computes
        update, updates, regulariser, regularizer, attention, sampling, loss function, batch
        mini-batch, estimate
        """
    )
)
RESULT = Lexicon.of(
    phrases(
        """
        result, results, outperforms, outperform, improves, improve, improvement, accuracy, gains
        gain, experiments, experiment, achieves, achieve, points, percent, score, scores, error
        performance, compared with, compared to, better, baseline, baselines, evaluation, evaluate
        reduces, reduction, faster, speed-up, f1, bleu, auc
        """
    )
)
LIMIT = Lexicon.of(
    phrases(
        """
        limitation, limitations, however, did not, do not, does not, cannot, only, fails, fail
        future work, remains, unclear, leave, beyond the scope, drawback, restricted, too noisy
        vanish, not tested, limited, at the cost, slower, expensive, we did not, untested
        """
    )
)
ASSUMPTION = Lexicon.of(
    phrases(
        """
        assume, assumes, assumption, assumptions, suppose, given that, provided that, under the
        independent, hypothesis, i.i.d., requires, require, must, is needed, we expect, since
        """
    )
)
RELATED = Lexicon.of(
    phrases(
        """
        prior work, previous, previously, existing, related work, in contrast to, unlike
        state of the art, state-of-the-art, baseline, baselines, compared with, compared to
        literature, earlier, usual, common, usually, best, standard, alternative
        """
    )
)
THEORY = Lexicon.of(
    phrases(
        """
        theorem, lemma, proof, prove, proves, bound, bounds, convergence, converges, guarantee
        guarantees, theory, theoretical, optimal, equals, proportional, asymptotic, definition
        derive, closed form, convex, rate, complexity, equivalent, appendix
        """
    )
)
IMPLEMENTATION = Lexicon.of(
    phrases(
        """
        implementation, code, hyper-parameter, hyperparameter, hyperparameters, learning rate, gpu
        gpus, batch, batches, memory, wall-clock, runtime, hours, seconds, epochs, sgd, adam
        factor, parameters, cost, layers, batch size, released, open source, hardware, extra
        """
    )
)
STATISTICS = Lexicon.of(
    phrases(
        """
        seed, seeds, averaged, mean, standard deviation, variance, confidence, interval
        significant, significance, p-value, test, runs, error bars, sample, samples, points
        percent, average
        """
    )
)
DATA = Lexicon.of(
    phrases(
        """
        dataset, datasets, benchmark, benchmarks, corpus, imagenet, cifar, cifar-10, cifar-100
        mnist, glue, tasks, task, images, test set, leaderboard, collected, annotated, simulated
        games
        """
    )
)
METHOD_SWAPS = Lexicon.parse(
    """
    gradient: kernel score; gradients: kernel scores; dropout: replay; network: decision forest
    networks: decision forests; transformer: graphical model; transformers: graphical models
    attention: clustering; convolutional: recurrent; recurrent: convolutional
    supervised: reinforcement-based; self-supervised: fully supervised; unsupervised: supervised
    reinforcement learning: supervised regression; policy: classifier; policies: classifiers
    training: search; train (v): search over; trained: selected
    layer: tree level; layers: tree levels
    loss: fitness; objective: fitness; encoder: hash function; decoder: look-up table
    embedding: symbolic code; embeddings: symbolic codes; sampling: enumeration
    sample: enumerate; average: median; averaged: ranked; regulariser: prior; regularizer: prior
    regularisation: prior design; regularization: prior design; optimise: enumerate
    optimize: enumerate; update: mutation; updates: mutations; mini-batch: population
    batch: population; batches: populations; distillation: boosting; contrastive: generative
    generative: discriminative; discriminative: generative; diffusion: autoregressive
    autoregressive: diffusion; graph: sequence; graphs: sequences; linear: tree-based
    neural: evolutionary; bayesian: frequentist; learning: evolutionary search
    cosine: edit distance
    model (n): rule base; models: rule bases; estimator: heuristic; weights: rules; feature: rule
    features: rules; language model: grammar; language models: grammars
    """
)
DIRECTIONS = Lexicon.parse(
    """
    outperforms: trails; outperform: trail; gains: loses; gain (v): lose; improves: lowers
    improve: lower; improved: lowered; better: worse; best: second-best; higher: lower
    lower: higher; faster: slower; grows: shrinks; reduces: raises; reduced: raised
    increases: decreases; decreases: increases; matches: misses; exceeds: stays below; all: most
    """
)
